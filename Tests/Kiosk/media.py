"""Files of the media folder in the window, at the addresses that they have in browsers. Each test is a function of (stage)."""
import json

from stage import Site

# What a page gets: the status, the headers that matter, the text; or why it gets nothing.
ASK = """
    const [address, options] = arguments
    return fetch(address, options || {}).then(async answer => ({
        status: answer.status, text: await answer.text(), type: answer.headers.get('Content-Type'), range: answer.headers.get('Content-Range'),
        policy: answer.headers.get('Content-Security-Policy'), disposition: answer.headers.get('Content-Disposition'), tag: answer.headers.get('ETag'),
    }), error => ({ error: String(error) }))
"""
POLICY = "sandbox; default-src 'none'"


def folder(stage):
    return stage.rig.folder / "media"


def names(stage):
    return sorted(each.name for each in folder(stage).iterdir() if "kiosk-" in each.name)


def read_media(stage):
    """A recording plays in an audio element of the window's page, and files are read whole and in parts"""
    stage.rig.call("rec", "kiosk-bell.wav", {"limit": 0.5, "wait": True})
    opened = stage.page("kiosk/plain.html")
    length = opened.run("""
        const audio = new Audio('../media/kiosk-bell.wav')
        return new Promise((done, fail) => {
            audio.onended = () => done(audio.duration)
            audio.onerror = () => fail(audio.error.message)
            audio.play().catch(fail)
        })""")
    assert abs(length - 0.5) < 0.01, length
    # In the document, with its address in the page's text; what is not there is an error of the element.
    played = opened.run("""
        document.body.insertAdjacentHTML('beforeend', '<audio id="bell" src="../media/kiosk-bell.wav"></audio><video id="source"><source src="../media/kiosk-bell.wav"></video><audio id="none" src="../media/none.wav"></audio>')
        const ends = id => new Promise(done => { const it = document.getElementById(id); it.onended = () => done('ended'); it.onerror = () => done('error'); setTimeout(done, 8000, 'neither') })
        const all = Promise.all(['bell', 'source', 'none'].map(ends))
        await new Promise(done => setTimeout(done, 0))
        for (const id of ['bell', 'source']) document.getElementById(id).play()
        return all""")
    assert played == ["ended", "ended", "error"], played
    text = "0123456789" * 50_000
    (folder(stage) / "kiosk-long.txt").write_text(text)
    whole = opened.run(ASK, "../media/kiosk-long.txt")
    assert whole["status"] == 200 and whole["text"] == text and whole["policy"] == POLICY, (whole["status"], whole["policy"])
    assert (whole["type"], whole["disposition"]) == ("application/octet-stream", "attachment; filename*=UTF-8''kiosk-long.txt"), whole
    for asked, told, expected in [("bytes=3-5", "bytes 3-5/500000", "345"), ("bytes=-2", "bytes 499998-499999/500000", "89")]:
        part = opened.run(ASK, "../media/kiosk-long.txt", {"headers": {"Range": asked}})
        assert (part["status"], part["range"], part["text"]) == (206, told, expected), part
    none = opened.run(ASK, "../media/kiosk-long.txt", {"headers": {"Range": "bytes=500000-"}})
    assert (none["status"], none["range"]) == (416, "bytes */500000"), none
    head = opened.run(ASK, "../media/kiosk-long.txt", {"method": "HEAD"})
    assert head["status"] == 200 and head["text"] == "", head
    for address in ["../media/none.wav", "../media/", "../media"]:
        answer = opened.run(ASK, address)
        assert answer["status"] == 404 and json.loads(answer["text"])["code"] == "notFound", (address, answer)
    # Thirty at once, more than are read at once.
    count = opened.run("return Promise.all(Array.from({ length: 30 }, () => fetch('../media/kiosk-long.txt').then(answer => answer.text()))).then(all => all.filter(text => text.length === 500000).length)")
    assert count == 30, count
    # A file of the page's folder wins, and pages are never shown from the media folder.
    (stage.rig.folder / "pages" / "media").mkdir(exist_ok=True)
    (stage.rig.folder / "pages" / "media" / "kiosk-own.txt").write_text("own")
    (folder(stage) / "kiosk-own.txt").write_text("other")
    assert opened.run(ASK, "../media/kiosk-own.txt")["text"] == "own"
    hidden = opened.run(ASK, "../media/kiosk-own.txt", {"method": "PUT", "body": "x"})
    assert hidden["status"] == 409 and "choose another name" in hidden["text"], hidden


def write_media(stage):
    """A page of the window writes files by PUT and by a form, whole or not at all"""
    opened = stage.page("kiosk/plain.html")
    for each in folder(stage).glob("kiosk-*"):
        each.unlink()
    put = opened.run("""
        const upload = new XMLHttpRequest()
        return new Promise((done, fail) => {
            const seen = []
            upload.upload.onprogress = ({ loaded, total }) => seen.push([loaded, total])
            upload.onload = () => done({ status: upload.status, text: upload.responseText, seen })
            upload.onerror = () => fail('no answer')
            upload.open('PUT', '../media/kiosk-a%20b.bin')
            upload.send(new Blob(['0123456789'.repeat(100000)]))
        })""")
    assert put["status"] == 201 and json.loads(put["text"]) == {"file": "kiosk-a b.bin", "bytes": 1_000_000}, put
    assert len(put["seen"]) > 3 and put["seen"] == sorted(put["seen"]) and put["seen"][-1] == [1_000_000, 1_000_000], put["seen"]
    assert (folder(stage) / "kiosk-a b.bin").read_bytes() == b"0123456789" * 100_000
    form = opened.run("""
        const form = new FormData()
        form.append('text', 'hello')
        form.append('file', new Blob(['one'.repeat(50000)]), 'kiosk-one.wav')
        form.append('file', new Blob([]), 'kiosk-two.png')
        return fetch('../media', { method: 'POST', body: form }).then(async answer => ({ status: answer.status, value: await answer.json() }))""")
    files = [{"file": "kiosk-one.wav", "bytes": 150_000}, {"file": "kiosk-two.png", "bytes": 0}]
    assert form == {"status": 201, "value": {"files": files}}, form
    assert (folder(stage) / "kiosk-one.wav").read_bytes() == b"one" * 50_000
    for address, method, body, status in [("../media/no/folder.txt", "PUT", "x", 404), ("../media/a%7f.txt", "PUT", "x", 404), ("../media/.a.txt", "PUT", "x", 404), ("../media", "POST", "x", 415),
                                          ("../media", "PUT", "x", 405), ("../media/kiosk-a.txt", "DELETE", None, 405), ("../media/kiosk-a.txt", "POST", "x", 405)]:
        answer = opened.run(ASK, address, {"method": method, **({"body": body} if body else {})})
        assert answer.get("status") == status, (address, answer)
    # What does not go through the page's side is refused, with a Blob too, and the window goes on.
    raw = opened.run("""
        const frame = document.createElement('iframe')
        document.body.append(frame)
        const plain = frame.contentWindow.fetch.bind(frame.contentWindow)
        const told = []
        for (const body of ['x', new Blob(['x']), new FormData()]) told.push(await plain('qc://app/media/kiosk-raw.txt', { method: 'PUT', body }).then(answer => answer.status, String))
        return told""")
    assert raw == [501] * 3, raw
    # Two at once of one name: one of them, or both one after the other, and never a mixture.
    statuses = opened.run("""
        return Promise.all(['a', 'b'].map(text => fetch('../media/kiosk-both.txt', { method: 'PUT', body: text.repeat(300000) }).then(answer => answer.status)))""")
    assert 201 in statuses and set(statuses) <= {201, 409}, statuses
    both = (folder(stage) / "kiosk-both.txt").read_text()
    assert both in ("a" * 300_000, "b" * 300_000)
    assert names(stage) == ["kiosk-a b.bin", "kiosk-both.txt", "kiosk-one.wav", "kiosk-two.png"], names(stage)


def foreign_media(stage):
    """A frame of another origin neither shows nor fetches nor writes files of the media folder"""
    stage.rig.call("rec", "kiosk-bell.wav", {"limit": 0.2, "wait": True})
    before = names(stage)
    with Site(stage.rig.folder / "pages" / "kiosk") as theirs:
        opened = stage.window(settings=f"  resources: [{theirs.origin}]\n  urlCalls: false")
        stage.go(opened, "qc://app/kiosk/plain.html")
        script = """
            const told = new Promise(done => { addEventListener('message', event => done(event.data.found)); setTimeout(() => done('no frame'), 8000) })
            const frame = document.createElement('iframe')
            frame.src = arguments[0] + '/foreign-media.html'
            document.body.append(frame)
            return told"""
        found = opened.run(script, theirs.origin)
        assert found == [], found
        # The page's own write comes after the frame's.
        assert opened.run(ASK, "../media/kiosk-own-write.txt", {"method": "PUT", "body": "own"})["status"] == 201
        assert names(stage) == sorted(before + ["kiosk-own-write.txt"]), names(stage)
        stage.close_window()
