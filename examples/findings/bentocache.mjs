// bentocache, as it is published, is a node of isr-sim here, for isr-sim check. It keeps its pages in DynamoDB alone.
// An invalidation deletes a page, and with the argument clear it clears the cache.
import { node, origin } from 'isr-sim' // before anything else
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { BentoCache, bentostore } from 'bentocache'
import { dynamoDbDriver } from 'bentocache/drivers/dynamodb'

node((init) => {
  const driver = dynamoDbDriver({ client: new DynamoDBClient(init.client), table: { name: init.table } })
  const bento = new BentoCache({ default: 'pages', stores: { pages: bentostore().useL2Layer(driver) } })
  return {
    async get(key) {
      let until
      const found = await bento.getOrSet({
        key,
        factory: async ({ setOptions }) => {
          until = Date.now() + init.config.revalidate * 1000
          const body = await origin(key)
          setOptions({ ttl: until - Date.now() })
          return { body, until }
        },
      })
      return { body: found.body, fresh: Date.now() < found.until }
    },
    invalidate: (key) => process.argv[2] === 'clear' ? bento.clear() : bento.delete({ key }),
  }
}, ['get', 'invalidate'])
