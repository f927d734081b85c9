// @deliveryhero/dynamodb-lock, as it is published, is a node of isr-sim here, for isr-sim check --lock. It trusts
// clocks, and prolongs its leases by itself. A lock is given back by releaseAllLocks.
import { node } from 'isr-sim' // before anything else
import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb'
import deliveryhero from '@deliveryhero/dynamodb-lock'

node((init) => {
  const db = DynamoDBDocument.from(new DynamoDB(init.client))
  const table = { tableName: init.table, partitionKey: 'pk', sortKey: 'sk', ttlKey: 'ttl' }
  const locks = deliveryhero.dynamoDBLockClientFactory(db, table)
  const leaseDurationInMs = init.config.lease * 1000
  const options = {
    leaseDurationInMs, prolongEveryMs: Math.floor(leaseDurationInMs / 3), trustLocalTime: true, waitDurationInMs: 1000,
    maxRetryCount: 3,
  }
  return {
    async hold(key) {
      await locks.lock('LOCK', key, options)
      return { release: () => locks.releaseAllLocks() }
    },
  }
}, ['hold'], { heartbeats: true, wait: 5 })
