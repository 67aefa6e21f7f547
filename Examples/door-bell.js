#!/usr/bin/env -S quickconnect run
// A door bell: rings when somebody presses the button, and says how often that was.
//
//     quickconnect run Examples/door-bell.js &
//     quickconnect call post doorbell '{"door": "front"}'
//     quickconnect call rings

let rings = 0

mapCommandToVCF('doorbell', (data, press) => {
    rings++
    console.log('somebody is at the ' + press.door + ' door')
    makeCall('playSound', press.door === 'front' ? 0 : 1)
})

WebViewJavascriptBridge.registerHandler('rings', () => rings)
