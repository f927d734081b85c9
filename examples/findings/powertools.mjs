// @aws-lambda-powertools/idempotency, as it is published, is a node of isr-sim here, for isr-sim check --once. A
// context such as Lambda's says how long an invocation may still take.
import { node, OtherPayload } from 'isr-sim' // before anything else
import { IdempotencyConfig, IdempotencyValidationError, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'

node((init) => {
  const { table: tableName, client: clientConfig, config: { lease, retention } } = init
  const persistenceStore = new DynamoDBPersistenceLayer(
    { tableName, clientConfig, keyAttr: 'pk', sortKeyAttr: 'sk', expiryAttr: 'ttl' })
  const config = new IdempotencyConfig({
    eventKeyJmesPath: 'key', payloadValidationJmesPath: 'payload', expiresAfterSeconds: retention,
    lambdaContext: { getRemainingTimeInMillis: () => lease * 1000 },
  })
  return {
    once: (key, payload, effect) => makeIdempotent(() => effect(), { persistenceStore, config })({ key, payload })
      .catch((e) => { throw e instanceof IdempotencyValidationError ? new OtherPayload(e.message) : e }),
  }
}, ['once'], { payload: true })
