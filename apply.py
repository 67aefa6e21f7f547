import sys,re
import subprocess
def mx(f): return max(len(x.expandtabs(4)) for x in subprocess.check_output(['git','show','HEAD:'+f],text=True).split('\n'))
f=None;edits={}
for l in open(sys.argv[1]).read().split('\n'):
    if l.startswith('@ '): f=l[2:].strip(); edits.setdefault(f,[]); continue
    m=re.match(r'^(\d+)(~?|-)(?: (.*))?$',l)
    if m and f: edits[f].append((int(m[1]),m[2],m[3] or ''))
    elif l.strip(): print('BAD',l)
root=sys.argv[2] if len(sys.argv)>2 else '.'
for f,es in edits.items():
    L=open(root+'/'+f).read().split('\n'); dele=[]
    for n,k,t in es:
        o=L[n-1]
        if k=='-': dele.append(n);continue
        if k=='~':
            m=re.match(r'^(.*?\S.*?\s(?://|#|/\*) )(.*?)(\s*\*/)?$',o) if not re.match(r'^(.*\S\s+(?://|#) )(.*)()$',o) else re.match(r'^(.*\S\s+(?://|#) )(.*)()$',o)
            if not m: print('NOTRAIL',f,n,o);continue
            L[n-1]=m[1]+t+(m[3] or '')
        else:
            m=re.match(r'^(\s*""")(.*?)(""")?$',o)
            if not m: m=re.match(r'^(\s*(?:///?|#|/\*\*?|\*(?!/))\s?)(\s*.*?)( ?\*/)?$',o)
            if not m: m=re.match(r'^(\s*)(.*?)(""")?$',o)
            L[n-1]=m[1]+t+(m[3] or '')
        if len(L[n-1].expandtabs(4))>max(120,mx(f)) : print('WIDE',len(L[n-1].expandtabs(4)),f,n)
    for n in sorted(dele,reverse=True): del L[n-1]
    open(root+'/'+f,'w').write('\n'.join(L))
