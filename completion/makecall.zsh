#compdef makecall
# Completion of makecall, which is short for «quickconnect call».
_makecall() {
    words=(quickconnect call "${(@)words[2,-1]}")
    (( CURRENT++ ))
    (( $+functions[_quickconnect] )) || autoload -Uz _quickconnect
    service=quickconnect _quickconnect
}
_makecall "$@"
