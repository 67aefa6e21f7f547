function execute(start, end, callback) {

var context = Context.context();

var entries = context.queryEntriesBetweenDateStartEnd(start, end);

callback(entries.length > 0);

}
