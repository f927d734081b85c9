// The types of the kit of isr-sim for Node.js: see README.md, and docs/NODES.md of isr-sim. They need @types/node, and
// TypeScript 5.4 or later. A test compares the names with those of index.mjs.

/** The settings of the scenario's cache. Durations are in seconds, and may have fractions: 0.3, 2.5. */
export interface Config {
  /** How long a lease lasts. */
  readonly lease: number
  /** How long a page is fresh. */
  readonly revalidate: number
  /** How long a page is kept after that. */
  readonly retention: number
  /** How long after that a row's `ttl` is. */
  readonly ttlBuffer: number
  /** How long a reader that waits for another one sleeps between two looks. */
  readonly poll: number
  /** How many more times it looks. */
  readonly patience: number
  /** How often an SDK sends a request: the kit sets AWS_MAX_ATTEMPTS to it, unless it is set. */
  readonly attempts: number
  /** How a reader behaves while another one makes the page. */
  readonly contention: 'wait' | 'serve-stale'
  /** How it behaves when a page cannot be made. */
  readonly failure: 'serve-last' | 'fail'
  /** No machine's clock is ever further from true time: two may differ by twice as much. */
  readonly maxClockSkew: number
}

export interface Credentials {
  /** The actor's name, which tells isr-sim whose request it is. */
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** Options of an AWS SDK v3 client: `new DynamoDBClient(init.client)`, `new S3Client(init.client)`. */
export interface ClientOptions {
  region: string
  endpoint: string
  credentials: Credentials
  /** Of S3: buckets stand in the path. */
  forcePathStyle: boolean
  /** Requests are lines of the protocol, and not HTTP. */
  requestHandler: RequestHandler
  /** Names the actor in a request, and calculates no signature. */
  signer: Signer
}

/** What an AWS SDK client signs its requests by. */
export interface Signer {
  sign(request: any, options?: any): Promise<any>
}

/** What an AWS SDK client sends its requests by. */
export interface RequestHandler {
  readonly metadata: { readonly handlerProtocol: string }
  handle(request: any, options?: any): Promise<{ response: any }>
  updateHttpClientConfig(key: any, value: any): void
  httpHandlerConfigs(): any
  destroy(): void
}

/** The settings that a life of the node gets when it begins. */
export interface Init {
  readonly type: 'init'
  /** The node's clock, in milliseconds since 1970. */
  readonly time: number
  /** Of the protocol. */
  readonly version: number
  /** With the number of its life after a restart: `alice`, `alice.2`. */
  readonly actor: string
  /** Of a scenario with tenants; otherwise empty. */
  readonly tenant: string
  readonly endpoint: string
  readonly region: string
  readonly credentials: Credentials
  readonly table: string
  /** Of the bodies, for a cache that keeps them in S3: `new S3Client(init.client)`. */
  readonly bucket: string
  /** Below 2^53; another one for each life. The kit has seeded the process's randomness with it. */
  readonly seed: number
  readonly config: Config
  /** Host and port of the endpoint. */
  readonly host: string
  readonly port: number
  readonly client: ClientOptions
}

/** A page, as a reader gets it: both are said, so that neither is forgotten. */
export interface Served {
  /** Without a body the page is empty. */
  readonly body: string | undefined
  /** Whether the cache takes the page for fresh. A cache that never does so is not alive. */
  readonly fresh: boolean
}

/** The operations that scenarios have. A call that throws, or rejects, has failed. */
export interface Operations {
  get: (key: string) => Promise<Served> | Served
  /** What it returns is not used. */
  invalidate: (key: string) => unknown
  /** `request` is the idempotency key, and `inputs` the hash of the inputs, where the scenario has them. */
  regenerate: (key: string, request?: string, inputs?: string) => Promise<Served> | Served
  /** What it returns is not used. */
  rollback: (key: string) => unknown
}

/** A lock that is held. */
export interface Held {
  /** The fencing token: a number that grows with each holder. */
  readonly token?: number | bigint | undefined
  /** Gives the lock back. It is called once, also if the lock has been lost. */
  release: () => unknown
}

/** Optional operations of a lock. Each makes its check stricter. */
export interface Holding {
  /** Whether the lock is still held: asked before each write to what it guards. */
  held: () => Promise<boolean> | boolean
  /** Starts the lease again: called after half a lease. It rejects if the lock is lost. */
  extend: () => unknown
}

/** The operation of a lock, and what of Holding it can do. */
export interface Locking<V extends string = never> {
  /** Takes the lock of that name, at once or after a wait. It rejects if the lock has not been taken. */
  hold: (key: string) => Promise<Held & Pick<Holding, V & keyof Holding>> | (Held & Pick<Holding, V & keyof Holding>)
}

/** The promises of a lock besides its lease. The defaults are those of isr-sim's `property.LockCheck`. */
export interface LockTerms {
  /** The lock extends itself, at least every third of its lease. */
  readonly heartbeats?: boolean
  /** How many seconds before the end of its lease it may say that it is lost. */
  readonly margin?: number
  /** How many seconds it may wait in one `hold` while nobody else can hold it. */
  readonly wait?: number
  /** How many seconds after its lease the lock of a dead holder may still count as held; half a lease by default. */
  readonly takeover?: number
}

/** The operation of an idempotency layer. */
export interface Calling {
  /**
   * Makes the effect of a key happen, if it has not yet, and returns its result: that of this call, or of an earlier
   * one. It rejects with OtherPayload if the key was used with another payload, and with any other error if the call
   * may be made again. Where `effect` rejects, it did not happen.
   */
  once: (key: string, payload: string, effect: () => Promise<string>) => Promise<string> | string
}

/** What such a layer promises besides its two times. The defaults are those of isr-sim's `property.OnceCheck`. */
export interface OnceTerms {
  /** A call is refused with OtherPayload if its key was used with another payload. */
  readonly payload?: boolean
  /** How many seconds a call may wait although no other machine is at work on it. */
  readonly wait?: number
  /** How many seconds after its time in progress the call of a dead machine may still count as in progress. */
  readonly takeover?: number
}

/** The error of `once` for a key that was used with another payload. */
export class OtherPayload extends Error {}

export type Verb = keyof Operations

/** How the node's lives are run. */
export interface Lives {
  /**
   * Each life is a process of its own, as it is for a cache that keeps something in variables of its modules. That
   * takes some tenths of a second for each.
   */
  readonly newProcess?: boolean
  /**
   * A cache is frozen after each reply, as under AWS Lambda: it hears no answer until its next command, and then that
   * the connection is broken. What was sent may take effect at any later time, or never.
   */
  readonly frozen?: boolean
}

/**
 * Runs the node. `create` makes the cache, lock or layer of one life, with the operations that `can` names; without
 * `can`, with all those of a cache. Call node once in a process.
 */
export function node<V extends 'hold' | keyof Holding>(
  create: (init: Init) => Locking<NoInfer<V>> | Promise<Locking<NoInfer<V>>>, can: readonly V[], lock?: LockTerms,
  lives?: Lives,
): void
export function node(
  create: (init: Init) => Calling | Promise<Calling>, can: readonly 'once'[], once?: OnceTerms, lives?: Lives,
): void
export function node<V extends Verb>(
  create: (init: Init) => Pick<Operations, NoInfer<V>> | Promise<Pick<Operations, NoInfer<V>>>, can: readonly V[],
  terms?: undefined, lives?: Lives,
): void
export function node(create: (init: Init) => Operations | Promise<Operations>): void

/** Reads the origin of a page, and takes the scenario's time to render it. It rejects where the origin fails. */
export function origin(key: string): Promise<string>

/** The store of bodies. Each call rejects where the store fails. */
export interface Bodies {
  put(name: string, body: string | Uint8Array): Promise<void>
  /** Returns undefined for a body that is not there. */
  get(name: string): Promise<string | undefined>
  delete(name: string): Promise<void>
}

export const bodies: Bodies
