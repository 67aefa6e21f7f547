// Lets the outer ring show how far the device is from here: full at so many metres.
//
//     quickconnect macro run follow 100
//
// Each change of place runs the macro «moved», whose newest text counts: `quickconnect macro edit moved`, and watch.
function(metres = 100) {
    followed = {start: null, metres}
    if (!globalThis.isFollowing) mapCommandToVCF('location', (data, place) => moved(place))
    isFollowing = true
    return 'the outer ring is full at ' + metres + ' m'
}
