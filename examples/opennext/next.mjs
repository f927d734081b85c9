// OpenNext's cache handlers, as they are published, for isr-sim check --next. OpenNext's server is a bundle that puts a
// store of tags, a store of pages and the context of each request into globals, and so is this file: .ci/findings
// bundles it. HANDLER=composable-cache is the one for 'use cache', TAGS=dynamodb an original store of tags.
import { AsyncLocalStorage } from 'node:async_hooks'
import cache from '@opennextjs/aws/adapters/cache.js'
import composable from '@opennextjs/aws/adapters/composable-cache.js'
import incrementalCache from '@opennextjs/aws/overrides/incrementalCache/s3.js'
import nextMode from '@opennextjs/aws/overrides/tagCache/dynamodb-nextMode.js'
import original from '@opennextjs/aws/overrides/tagCache/dynamodb.js'
import { RequestCache } from '@opennextjs/aws/utils/requestCache.js'

const requests = new AsyncLocalStorage()
const begins = () => requests.enterWith({
  writtenTags: new Set(), requestCache: new RequestCache(), pendingPromiseRunner: { add() {} },
})
Object.assign(globalThis, {
  openNextConfig: {}, nextVersion: '16.0.0', __openNextAls: requests, incrementalCache,
  tagCache: process.env.TAGS === 'dynamodb' ? original : nextMode,
  internalFetch: (url, how) => fetch(process.env.AWS_ENDPOINT_URL, how), // it has the service's own address
  cdnInvalidationHandler: { invalidatePaths() {} },
})

class Cache extends cache {
  constructor(options) {
    super(options)
    begins()
  }
}
const useCache = { ...composable,
  refreshTags() {
    begins()
    return composable.refreshTags()
  },
  updateTags(...all) {
    begins()
    return composable.updateTags(...all)
  },
}
export default process.env.HANDLER === 'composable-cache' ? useCache : Cache
