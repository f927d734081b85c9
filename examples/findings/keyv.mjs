// @keyv/dynamo, as it is published, is a node of isr-sim here, for isr-sim check. A page that Keyv does not have is
// made, and is set with the time for which it is still fresh. An invalidation deletes two keys in one call.
import { node, origin } from 'isr-sim' // before anything else
import Keyv from 'keyv'
import KeyvDynamo from '@keyv/dynamo'

node((init) => {
  const store = new KeyvDynamo({ ...init.client, tableName: init.table })
  const keyv = new Keyv(store,
    { useKeyPrefix: false, throwOnErrors: true, serialize: undefined, deserialize: undefined })
  return {
    async get(key) {
      const found = await keyv.get(key)
      if (found !== undefined) return { body: found, fresh: true }
      const until = Date.now() + init.config.revalidate * 1000
      const body = await origin(key)
      const fresh = () => Date.now() < until
      if (fresh()) await keyv.set(key, body, until - Date.now())
      return { body, fresh: fresh() }
    },
    invalidate: (key) => keyv.delete([key, 'feed:' + key]),
  }
}, ['get', 'invalidate'])
