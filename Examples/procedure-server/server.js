#!/usr/bin/env node
// Serves stored procedures to devices, as the server of the article on them does, and keeps every version.
// Node 18 and newer, no packages:
//
//   node server.js [--folder ./uploads] [--port 8080] [--host 127.0.0.1]     TOKEN in the environment guards what changes
//
//   GET    /uploads/NAME               a file, with the headers xtimestamp and xsent, ETag and Last-Modified
//   GET    /uploads/manifest.json      {version, files: {NAME: sha256}}
//   PUT    /uploads/manifest.json.sig  the signature of the manifest's bytes, made where the key is, which is not here:
//                                      64 bytes of Ed25519, or Base64. GET answers it until the manifest changes
//   GET    /uploads/                   [{name, version, bytes, sha256, time}]
//   PUT    /uploads/NAME               a new version: the body is the file. NAME.js or lib/NAME.js
//   DELETE /uploads/NAME               the file goes, its versions stay
//   GET    /versions/NAME              [{version, bytes, time}]
//   POST   /versions/NAME?to=VERSION   makes an old version the newest
'use strict'
const { createHash, timingSafeEqual } = require('node:crypto')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')

const maximumBytes = 1 << 20
const maximumFiles = 1000

const signatureName = 'manifest.json.sig'

class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

// The only names there are: no dot files, nothing that leads anywhere else.
const isName = name => /^(lib\/)?[A-Za-z0-9_][A-Za-z0-9_-]{0,99}\.js$/.test(name)
const sha256 = bytes => createHash('sha256').update(bytes).digest('hex')

class Store {
  constructor(folder) {
    this.files = path.join(folder, 'files')
    this.kept = path.join(folder, 'versions')
    this.counter = path.join(folder, 'version')
    this.signature = path.join(folder, 'manifest.json.sig')
    for (const one of [path.join(this.files, 'lib'), path.join(this.kept, 'lib')]) fs.mkdirSync(one, { recursive: true })
  }

  get version() {
    try { return Number(fs.readFileSync(this.counter, 'utf8')) } catch { return 0 }
  }

  names() {
    const own = fs.readdirSync(this.files), shared = fs.readdirSync(path.join(this.files, 'lib'))
    return [...own, ...shared.map(name => `lib/${name}`)].filter(isName).sort()
  }

  read(name) {
    try {
      return { bytes: fs.readFileSync(path.join(this.files, name)), time: fs.statSync(path.join(this.files, name)).mtime }
    } catch {
      throw new Refusal(404, `there is no ${name}`)
    }
  }

  versions(name) {
    try {
      return fs.readdirSync(path.join(this.kept, name)).map(Number).filter(Number.isInteger).sort((a, b) => a - b)
    } catch {
      return []
    }
  }

  versionFile(name, number) { return path.join(this.kept, name, String(number)) }

  put(name, bytes) {
    if (bytes.length > maximumBytes) throw new Refusal(413, `a file has at most ${maximumBytes} bytes`)
    if (!this.names().includes(name) && this.names().length >= maximumFiles) throw new Refusal(507, 'too many files')
    const number = (this.versions(name).pop() ?? 0) + 1
    fs.mkdirSync(path.join(this.kept, name), { recursive: true })
    fs.writeFileSync(this.versionFile(name, number), bytes)
    this.replace(path.join(this.files, name), bytes)
    this.change()
    return number
  }

  remove(name) {
    this.read(name)
    fs.unlinkSync(path.join(this.files, name))
    this.change()
  }

  // Whole or not at all, so that a device never sees half a file.
  replace(file, bytes) {
    fs.writeFileSync(`${file}.new`, bytes)
    fs.renameSync(`${file}.new`, file)
  }

  // With the hash of the manifest that it signs: one of an older manifest would have devices refuse the new one.
  sign(bytes) {
    const raw = bytes.length === 64 ? bytes : Buffer.from(bytes.toString('latin1').trim(), 'base64')
    if (raw.length !== 64) throw new Refusal(400, `a signature has 64 bytes, or these in Base64; this one has ${raw.length}`)
    this.replace(this.signature, JSON.stringify({ of: sha256(this.manifestBytes()), signature: raw.toString('base64') }))
  }

  signed() {
    let kept
    try { kept = JSON.parse(fs.readFileSync(this.signature, 'utf8')) } catch {
      throw new Refusal(404, 'the manifest is not signed: put its signature here')
    }
    if (kept.of === sha256(this.manifestBytes())) return { bytes: Buffer.from(kept.signature), time: fs.statSync(this.signature).mtime }
    throw new Refusal(404, 'the manifest has changed since it was signed: sign it again')
  }

  manifestBytes() { return Buffer.from(JSON.stringify(this.manifest())) }

  change() { this.replace(this.counter, String(this.version + 1)) }

  manifest() {
    return { version: this.version, files: Object.fromEntries(this.names().map(name => [name, sha256(this.read(name).bytes)])) }
  }
}

function serve(store, token) {
  const guard = request => {
    const given = Buffer.from(request.headers.authorization ?? ''), right = Buffer.from(`Bearer ${token}`)
    if (token && (given.length !== right.length || !timingSafeEqual(given, right))) throw new Refusal(401, 'a token is needed')
  }
  const json = (response, value, status = 200) => {
    const text = JSON.stringify(value)
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  }
  const file = (request, response, name) => {
    const { bytes, time } = name === 'manifest.json' ? { bytes: store.manifestBytes(), time: new Date() }
      : name === signatureName ? store.signed() : store.read(name)
    const tag = `"${sha256(bytes)}"`
    const headers = { etag: tag, 'last-modified': time.toUTCString(), xtimestamp: String(Date.now()), xsent: 'true' }
    if (request.headers['if-none-match'] === tag) return response.writeHead(304, headers).end()
    const type = name.endsWith('.json') ? 'application/json' : name === signatureName ? 'text/plain' : 'text/javascript; charset=utf-8'
    response.writeHead(200, { ...headers, 'content-type': type, 'content-length': bytes.length })
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }
  const body = async request => {
    const parts = []
    let length = 0
    for await (const part of request) {
      length += part.length
      if (length > maximumBytes) throw new Refusal(413, `a file has at most ${maximumBytes} bytes`)
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

  const answer = async (request, response) => {
    const url = new URL(request.url, 'http://server')
    const [, place, rest] = /^\/(uploads|versions)\/(.*)$/.exec(decodeURIComponent(url.pathname)) ?? []
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (place === 'uploads' && reads && rest === '') {
      return json(response, store.names().map(name => {
        const { bytes, time } = store.read(name)
        return { name, version: store.versions(name).pop() ?? 0, bytes: bytes.length, sha256: sha256(bytes), time }
      }))
    }
    if (place === 'uploads' && reads && (rest === 'manifest.json' || rest === signatureName || isName(rest))) return file(request, response, rest)
    if (place === 'uploads' && rest === signatureName && request.method === 'PUT') {
      guard(request)
      store.sign(await body(request))
      return json(response, null, 201)
    }
    if (!place || !isName(rest)) throw new Refusal(404, 'there is nothing of that name')
    if (place === 'versions' && reads) {
      return json(response, store.versions(rest).map(version => {
        const { size, mtime } = fs.statSync(store.versionFile(rest, version))
        return { version, bytes: size, time: mtime }
      }))
    }
    guard(request)
    if (place === 'uploads' && request.method === 'PUT') return json(response, { version: store.put(rest, await body(request)) }, 201)
    if (place === 'uploads' && request.method === 'DELETE') {
      store.remove(rest)
      return json(response, null)
    }
    if (place === 'versions' && request.method === 'POST') {
      const number = Number(url.searchParams.get('to'))
      if (!store.versions(rest).includes(number)) throw new Refusal(404, `${rest} has no version ${url.searchParams.get('to')}`)
      return json(response, { version: store.put(rest, fs.readFileSync(store.versionFile(rest, number))) }, 201)
    }
    throw new Refusal(405, `${request.method} is not for this`)
  }

  return http.createServer((request, response) => {
    answer(request, response).catch(error => {
      if (!(error instanceof Refusal) && !(error instanceof URIError)) console.error(error)
      const status = error.status ?? (error instanceof URIError ? 400 : 500)
      if (!response.headersSent) json(response, { error: status === 500 ? 'the server failed' : error.message }, status)
      else response.destroy()
    })
  })
}

module.exports = { Store, serve }

if (require.main === module) {
  const option = (name, standard) => {
    const index = process.argv.indexOf(`--${name}`)
    return index < 0 ? standard : process.argv[index + 1]
  }
  const host = option('host', '127.0.0.1')
  const server = serve(new Store(option('folder', './uploads')), process.env.TOKEN)
  server.listen(Number(option('port', 8080)), host, () => console.log(`http://${host}:${server.address().port}/uploads/`))
}
