// The types of history.mjs. docs/SERVE.md of isr-sim says when each event is posted.

interface OfPage {
  readonly key: string
  /** Distinguishes the requests that one process has under way at once. */
  readonly call?: string
  /** Of a cache with tenants. */
  readonly tenant?: string
}

interface OfRequest extends OfPage {
  /** The idempotency key, where a page is made because it was asked for. */
  readonly request?: string
}

/** What a client saw. */
export type Event =
  | OfRequest & { readonly kind: 'asked' }
  /** `fresh`: whether the cache takes the page for fresh. */
  | OfRequest & { readonly kind: 'served', readonly body: string, readonly fresh: boolean }
  | OfRequest & { readonly kind: 'failed', readonly error?: string }
  /** `revalidate` is how long the page is fresh, such as `60s`; `partition` is the partition key of the page's rows. */
  | OfRequest & {
    readonly kind: 'rendered', readonly body: string, readonly revalidate?: string, readonly partition?: string
  }
  | OfPage & { readonly kind: 'invalidating' | 'invalidated' }
  | { readonly kind: 'crashed' }
  /** `within`: from the first request for it, a page must be in the cache and fresh in this time, such as `30s`. */
  | { readonly kind: 'settled', readonly within: string }

/** The server's count of events, and of its findings. */
export interface Found {
  readonly events: number
  readonly violations: number
  readonly doubts: number
}

/**
 * Returns the call that posts events of one actor, which is the access key id of its requests. `control` is the address
 * that isr-sim serve prints. A call takes one event, or several that happened one after the other. It rejects if the
 * server refuses them: then none counts.
 */
export function history(control: string, actor: string): (...events: Event[]) => Promise<Found>
