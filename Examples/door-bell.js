#!/usr/bin/env -S quickconnect run
// A door bell: rings when somebody presses the button, and says how often that was.
//
//     quickconnect run Examples/door-bell.js &
//     quickconnect call post doorbell '{"door": "front"}'
//     quickconnect call rings

let rings = 0

mapCommandToVCF('doorbell', (data, press) => {
    rings++
    const door = press?.door ?? 'front'    // «post doorbell» alone has no data
    console.log('somebody is at the ' + door + ' door')
    makeCall('playSound', door === 'front' ? 0 : 1)
})

WebViewJavascriptBridge.registerHandler('rings', () => rings)
