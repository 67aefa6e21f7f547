// com.js of the book (Lee S. Barney, Developing Hybrid Applications for the iPhone, chapter 4): its makeCall sets an address,
// which quickconnect.js catches. A page can leave this file out, and has quickconnect.js's makeCall then, which answers a
// promise and needs no browser that tells of navigations.
var messages = new Array();
var storeMessage = false;
var canSend = true;

function makeCall(command, dataString){
    var messageString = "cmd="+command+"&msg="+dataString;
    if(storeMessage || !canSend){
        messages.push(messageString);
    }
    else{
        storeMessage = true;
        window.location = "call?"+messageString;
    }
}

function handleJSONRequest(cmd, parametersString){
    var paramsArray = null;
    if(parametersString){
        var paramsArray = JSON.parse(parametersString);
    }
    handleRequest(cmd, paramsArray);
}
