// Mistakes that tsc --strict must refuse. Each follows a comment that expects it: a mistake that tsc accepts is an
// error (bash .ci/nodes).
import { bodies, node, origin } from 'isr-sim'
import { history } from 'isr-sim/history'

const get = (key: string) => ({ body: key, fresh: true })

// @ts-expect-error: can names a method that the cache does not have
node(() => ({ get }), ['get', 'invalidate'])
// @ts-expect-error: without can, all four are needed
node(() => ({ get }))
// @ts-expect-error: there is no such operation
node(() => ({ get }), ['fetch'])
// @ts-expect-error: the object that hold returns has no extend
node(() => ({ hold: () => ({ release() {} }) }), ['hold', 'extend'])
// @ts-expect-error: the object that hold returns has no release
node(() => ({ hold: () => ({ token: 7 }) }), ['hold'])
// @ts-expect-error: calls have no heartbeats
node(() => ({ once: (_key, _payload, effect) => effect() }), ['once'], { heartbeats: true })
// @ts-expect-error: a result is text
node(() => ({ once: () => 7 }), ['once'])
// @ts-expect-error: a page is no text
node(() => ({ get: (key: string) => key }), ['get'])
// @ts-expect-error: a body is text
node(() => ({ get: () => ({ body: 1, fresh: true }) }), ['get'])
// @ts-expect-error: the text of a page is its body
node(() => ({ get: async (key: string) => ({ html: key, fresh: true }) }), ['get'])
// @ts-expect-error: a page says whether it is fresh
node(() => ({ get: (key: string) => ({ body: key }) }), ['get'])
// @ts-expect-error: a key is text
node(() => ({ get: (key: number) => ({ body: String(key), fresh: true }) }), ['get'])
// @ts-expect-error: there is no such setting
node((init) => ({ get: () => ({ body: String(init.config.timeout), fresh: true }) }), ['get'])
// @ts-expect-error: the arguments of create are read-only
node((init) => { init.config.lease = 3; return { get } }, ['get'])
// @ts-expect-error: a missing body is undefined
const length = (await bodies.get('/home')).length
// @ts-expect-error: a body is text or bytes
await bodies.put('/home', { html: '' })
// @ts-expect-error: a promise is awaited
const text: string = origin('/home')

const post = history('http://127.0.0.1:8000/_isr-sim', 'alice')
// @ts-expect-error: there is no such kind of event
await post({ kind: 'serve', key: '/home' })
// @ts-expect-error: fresh is missing
await post({ kind: 'served', key: '/home', body: 'one' })
// @ts-expect-error: an event of a page has its key
await post({ kind: 'asked' })
// @ts-expect-error: the actor is named only in the call of history
await post({ kind: 'asked', actor: 'bob', key: '/home' })

void [length, text]
