// The types of isr-sim/vitest and isr-sim/jest.

/** The flags of isr-sim check, by their names, such as maxAge for --max-age. `isr-sim check --help` has them all. */
export interface Options {
  /** The command that runs the node, which may be in any language. It takes the place of the adapter. */
  exec?: string
  /** A file, beside the test, with a cacheHandler or the cacheHandlers of Next.js, in the place of the adapter. */
  next?: string
  /** The folder for the run that fails, beside the test. By default it is below __isr_sim__. */
  keep?: string
  /** How long the test may take, in milliseconds. By default ten minutes. */
  timeout?: number
  /** The node is a lock, and not a cache. */
  lock?: boolean
  /** The node is an idempotency layer. */
  once?: boolean
  /** How many worlds are drawn. The variable ISR_SIM_WORLDS has another number for a night. */
  worlds?: number
  /** The seed of everything random. The variable ISR_SIM_SEED has another one. */
  seed?: number | string
  /** The number of schedules of each world. */
  schedules?: number
  /** A file, beside the test, that says which rows are pages and locks, or the name of a ready mapping. */
  rows?: string
  /** Invariants that do not judge, because the cache does not promise them. */
  without?: readonly string[]
  /** Marks that some world must reach. */
  reach?: readonly string[]
  /** The check ends after this time, such as 30s. What was judged until then counts. */
  for?: string
  /** How long a failing run is made smaller, such as 30s; by default two minutes. */
  shrinkTime?: string
  /** How long a node may say nothing, in real time; by default 1m. */
  execLimit?: string
  /** MiB to remember what nodes did, so that code need not run again; off always runs it. */
  memory?: number | string
  /** The cache promises that nothing older is served, fresh or stale. */
  maxAge?: string
  /** The cache promises monotonic reads across its nodes. */
  monotonicAcrossNodes?: boolean
  /** The cache promises the rules of the recipe too; breaking one serves no wrong page. */
  recipe?: boolean
  /** The nodes have tenants, whose pages must be kept apart. */
  tenants?: boolean
  /** For a lock, leases that worlds give it; with once, how long a call counts as in progress. */
  lease?: string | readonly string[]
  /** With once, how long results are kept in some worlds. */
  retention?: string | readonly string[]
  /** Files for the run that fails, beside those in the folder. */
  record?: string
  report?: string
  /** The form of the results, such as junit=FILE. */
  format?: string | readonly string[]
}

/**
 * A test that is a check: it passes if isr-sim finds no schedule in which the cache breaks an invariant, and fails with
 * the story of the first one. The adapter is the file of the program that is the node, relative to the test.
 */
export function check(name: string, options: Options, adapter?: string | URL): void
