#!/usr/bin/env -S quickconnect run
// Counts how often it was started, also over restarts of the device: the daemon keeps the value. It needs
// Examples/mappings/starts.yaml in /etc/quickconnect/mappings, and `quickconnect call reload`.
//
//     quickconnect run Examples/start-counter.js

add('starts').then(count => console.log(count === 1 ? 'the first start' : 'start number ' + count))
