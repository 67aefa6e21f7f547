// com.js of the book (Lee S. Barney, Developing Hybrid Applications for the iPhone, chapter 4): its makeCall sets an address,
// which quickconnect.js catches. A page can leave this file out. It then has the makeCall of quickconnect.js, which returns a
// promise and does not need a browser that reports navigations.
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
