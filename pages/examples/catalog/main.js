// main.js of the book: the buttons' handlers. The buttons follow, because here a page's HTML may contain no script.
function vibrateDevice(event)
{
    //the -1 indicator causes the phone to vibrate
    makeCall("playSound", -1);
}

function playSound(event)
{
    //the 0 indicator causes the phone to play the laser sound
    makeCall("playSound", 0);
}

function playRecording(event)
{
    var params = new Array();
    params[0] = "recordedFile.caf";
    params[1] = "start";
    makeCall("play", JSON.stringify(params));
}

function terminatePlaying(event)
{
    var params = new Array();
    params[0] = "recordedFile.caf";
    params[1] = "stop";
    makeCall("play", JSON.stringify(params));
}

function startRecording(event)
{
    var params = new Array();
    params[0] = "recordedFile.caf";
    params[1] = "start";
    makeCall("rec", JSON.stringify(params));
}

function terminateRecording(event)
{
    var params = new Array();
    params[0] = "recordedFile.caf";
    params[1] = "stop";
    makeCall("rec", JSON.stringify(params));
}

function getGPSLocation(event)
{
    document.getElementById('locDisplay').innerText = '';
    makeCall("loc");
}

function displayLocationVCF(data, paramArray){
    document.getElementById('locDisplay').innerText = 'latitude: '+paramArray[0]+'\nlongitude: '+paramArray[1]+'\naltitude: '+paramArray[2];
}

function showDateSelector(event)
{
    makeCall("showDate", "DateTime");
}

function displayPickerSelectionVCF(data, paramArray){
    document.getElementById('pickerResults').innerHTML = paramArray[0];
}

function displayAccelerationVCF(data, param){
    document.getElementById('accelDisplay').innerText ='x: '+param.x+'\ny: '+param.y+'\nz: '+param.z;
}

var buttons = {
    vibrate: vibrateDevice, sound: playSound, record: startRecording, stopRecord: terminateRecording, play: playRecording,
    stopPlay: terminatePlaying, gps: getGPSLocation, picker: showDateSelector
};
for(var id in buttons){
    document.getElementById(id).addEventListener('click', buttons[id]);
}
