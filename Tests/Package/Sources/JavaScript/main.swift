import JavaScriptCore

print(JSContext()?.evaluateScript("6 * 7").toInt32() ?? 0)
