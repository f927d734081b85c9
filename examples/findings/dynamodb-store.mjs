// dynamodb-store, as it is published, is a node of isr-sim here, for isr-sim check. A session is a page: a session that
// the store does not have is made, and is set with the time that it has left.
import { node, origin } from 'isr-sim' // before anything else
import { promisify } from 'node:util'
import session from 'express-session'
import DynamoDBStore from 'dynamodb-store'

process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1'

node((init) => {
  const table = { name: init.table, hashKey: 'id', hashPrefix: '' }
  const store = new DynamoDBStore({ table, dynamoConfig: init.client })
  const [get, set, destroy] = [store.get, store.set, store.destroy].map((method) => promisify(method).bind(store))
  return {
    async get(key) {
      const found = await get(key)
      if (found) return { body: found.body, fresh: true }
      const until = Date.now() + init.config.revalidate * 1000
      const body = await origin(key)
      const fresh = () => Date.now() < until
      if (fresh()) await set(key, { body, cookie: new session.Cookie({ maxAge: until - Date.now() }) })
      return { body, fresh: fresh() }
    },
    invalidate: (key) => destroy(key),
  }
}, ['get', 'invalidate'])
