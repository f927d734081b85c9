// @verrou/core, as it is published, as a node of isr-sim: isr-sim check --lock. A lock is wanted for up to four
// seconds, and with the argument once it is tried once: acquireImmediately.
import { node } from 'isr-sim' // before anything else
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { Verrou } from '@verrou/core'
import { dynamodbStore } from '@verrou/core/drivers/dynamodb'

node((init) => {
  const driver = dynamodbStore({ connection: new DynamoDBClient(init.client), table: { name: init.table } })
  const verrou = new Verrou({ default: 'dynamodb', stores: { dynamodb: { driver } } })
  return {
    async hold(key) {
      const lock = verrou.createLock(key, init.config.lease * 1000)
      const once = process.argv[2] === 'once'
      const taken = once
        ? await lock.acquireImmediately() : await lock.acquire({ retry: { delay: 1000, timeout: 4000 } })
      if (!taken) throw new Error('somebody else holds it')
      return { held: () => !lock.isExpired(), extend: () => lock.extend(), release: () => lock.release() }
    },
  }
}, ['hold', 'held', 'extend'], { wait: 6 })
