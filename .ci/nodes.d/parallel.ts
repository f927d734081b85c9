// A node that has three requests under way at once, a timer beside them, and then two writes in parallel chains.
import { node } from 'isr-sim' // before anything else
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'

node(({ client, table }) => {
  const db = new DynamoDBClient(client)
  const row = (name: string) => ({ pk: { S: 'CACHE#' + name }, sk: { S: 'META' } })
  const read = async (name: string) =>
    (await db.send(new GetItemCommand({ TableName: table, Key: row(name), ConsistentRead: true }))).Item
  const write = async (name: string, by: number) => {
    const old = Number((await read(name))?.generated_at?.N ?? 0)
    const Item = { ...row(name), s3_key: { S: name }, generated_at: { N: String(old + by) } }
    await db.send(new PutItemCommand({ TableName: table, Item }))
  }
  return {
    async get() {
      let ticks = 0
      const clock = setInterval(() => { ticks++ }, 700)
      const found = await Promise.all(['a', 'b', 'c'].map(read))
      await Promise.all([write('a', 1), write('b', 1), write('a', 1)])
      await new Promise<void>((done) => setTimeout(done, 2000))
      clearInterval(clock)
      const last = (await read('a'))?.generated_at?.N
      return { body: `${found.map((f) => f?.generated_at?.N ?? '-')} then ${last} in ${ticks} ticks`, fresh: false }
    },
  }
}, ['get'])
