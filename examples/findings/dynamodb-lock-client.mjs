// dynamodb-lock-client, as it is published, is a node of isr-sim here, for isr-sim check --lock. With the argument
// closed its locks are of the kind that fails closed: nobody takes them over. Locks of the other kind have heartbeats,
// and count as lost when they emit an error.
import { node } from 'isr-sim' // before anything else
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import DynamoDB from 'aws-sdk/clients/dynamodb.js'
import { FailClosed, FailOpen } from 'dynamodb-lock-client'

const closed = process.argv[2] === 'closed'
process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1'

node((init) => {
  const dynamodb = new DynamoDB.DocumentClient(init.client)
  dynamodb.service.customizeRequests((request) => { // attempts of one call are known by this header
    request.on('build', () => { request.httpRequest.headers['amz-sdk-invocation-id'] = randomUUID() })
  })
  const table = { dynamodb, lockTable: init.table, partitionKey: 'id', owner: init.actor }
  const leaseDurationMs = init.config.lease * 1000
  const locks = closed
    ? new FailClosed({ ...table, acquirePeriodMs: 1000 })
    : new FailOpen({ ...table, leaseDurationMs, heartbeatPeriodMs: Math.floor(leaseDurationMs / 3), retryCount: 100 })
  return {
    async hold(key) {
      const lock = await promisify(locks.acquireLock).call(locks, key)
      let held = true
      lock.on('error', () => { held = false })
      return { token: lock.fencingToken, held: () => held, release: promisify(lock.release).bind(lock) }
    },
  }
}, closed ? ['hold'] : ['hold', 'held'], closed ? { takeover: 1e6 } : { heartbeats: true, wait: 12, takeover: 65 })
