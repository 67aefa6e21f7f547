#!/usr/bin/env -S quickconnect run
// An alarm: plays a sound when the device moves off from where it stands.
//
//     quickconnect run Examples/moves-off.js 20        beyond 20 m

load('lib/distance.js')

const limit = Number(script.arguments[0]) || 20
let home = null

mapCommandToVCF('location', (data, place) => {
    home = home || place
    const metres = distance(home, place)
    if (metres <= limit + place.accuracy) return
    console.log('moved off by ' + Math.round(metres) + ' m')
    makeCall('playSound', 0)
    // Where it is now is where the next move begins.
    home = place
})
