// The distance of two places in metres, on a sphere of the Earth's mean radius.
function distance(a, b) {
    const radians = degrees => degrees * Math.PI / 180
    const north = radians(b.latitude - a.latitude)
    const east = radians(b.longitude - a.longitude) * Math.cos(radians((a.latitude + b.latitude) / 2))
    return 6371000 * Math.hypot(north, east)
}
