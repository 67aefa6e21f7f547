# Completion of makecall, which is short for «quickconnect call».
complete --command makecall --wraps 'quickconnect call'
