#!/usr/bin/env -S quickconnect run
// A track logger: one line for each change of place, and how far it has been.
//
//     quickconnect run Examples/track-logger.js > track.csv

load('lib/distance.js')

let metres = 0

console.log('time,latitude,longitude,accuracy,metres')

mapCommandToVCF('location', (data, place) => {
    if (place.previous) metres += distance(place.previous, place)
    console.log([
        new Date(place.timestamp).toISOString(), place.latitude.toFixed(6), place.longitude.toFixed(6),
        Math.round(place.accuracy), Math.round(metres),
    ].join())
})
