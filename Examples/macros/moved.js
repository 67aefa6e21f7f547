// What a change of place does. «follow» runs it, with the place of the event `location`.
function(place) {
    followed.start = followed.start || place
    const radians = degrees => degrees * Math.PI / 180
    const {start, metres} = followed
    const north = radians(place.latitude - start.latitude)
    const east = radians(place.longitude - start.longitude) * Math.cos(radians(start.latitude))
    setOuterProgress(10 * 6371000 * Math.hypot(north, east) / metres)
}
