# Completion of makecall, which is short for «quickconnect call».
_makecall() {
    local name=quickconnect
    # The one beside it, where it was called by a path.
    [[ $1 == */* ]] && name=${1%/*}/quickconnect
    declare -F _quickconnect >/dev/null || _comp_load quickconnect 2>/dev/null || __load_completion quickconnect 2>/dev/null ||
        . "$(dirname "${BASH_SOURCE[0]}")/quickconnect" || return
    local line=${COMP_LINE#*"$1"}
    COMP_POINT=$((COMP_POINT - ${#COMP_LINE}))
    COMP_LINE="$name call$line"
    COMP_POINT=$((COMP_POINT + ${#COMP_LINE}))
    COMP_WORDS=("$name" call "${COMP_WORDS[@]:1}")
    ((COMP_CWORD++))
    _quickconnect "$name" "$2" "$3"
}
complete -o filenames -F _makecall makecall
