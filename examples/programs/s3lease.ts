// The lease of examples/s3lease as a node of isr-sim: isr-sim check --lock --exec 'exec node --import tsx s3lease.ts'
import { node } from 'isr-sim' // before anything else
import { randomUUID } from 'node:crypto'
import { S3 } from '@aws-sdk/client-s3'

// A lease and, unless there is none, the ETag of its object. Times are in milliseconds; until is 0 if it is free.
interface Lease { owner: string, token: number, until: number, etag?: string }

const own = process.env.BUG !== 'own' // without it, an object whose answer was lost is taken for another's
const busy = ['PreconditionFailed', 'NoSuchKey', 'ConditionalRequestConflict']
const is = (e: unknown, ...names: string[]) => e instanceof Error && names.includes(e.name)

node((init) => {
  const s3 = new S3(init.client)
  const end = () => Date.now() + init.config.lease * 1000
  const object = (name: string) => ({ Bucket: init.bucket, Key: name + '.lock' })

  const read = async (name: string): Promise<Lease> => {
    try {
      const { Body, ETag } = await s3.getObject(object(name))
      return { ...JSON.parse(await Body!.transformToString()), etag: ETag }
    } catch (e) {
      if (is(e, 'NoSuchKey')) return { owner: '', token: 0, until: 0 }
      throw e
    }
  }

  // Replaces the object that has the ETag. After an error, an earlier attempt of the SDK may have taken effect.
  const write = async (name: string, etag: string | undefined, lease: Lease): Promise<Lease> => {
    const Body = JSON.stringify(lease)
    try {
      const condition = etag ? { IfMatch: etag } : { IfNoneMatch: '*' }
      return { ...lease, etag: (await s3.putObject({ ...object(name), ...condition, Body })).ETag }
    } catch (e) {
      const { etag, ...seen } = await read(name).catch(() => { throw e })
      if (own && JSON.stringify(seen) === Body) return { ...seen, etag }
      throw e
    }
  }

  const again = async <T>(names: string[], one: () => Promise<T>): Promise<T> => {
    for (let left = 8; ; left--) {
      try { return await one() } catch (e) { if (left === 1 || !is(e, ...names)) throw e }
    }
  }

  const take = async (name: string, owner: string): Promise<Lease> => {
    let seen = await read(name)
    if (own && seen.owner === owner && seen.until) return seen
    // A token must be newer than the object: others may come and go before the object is there.
    if (!seen.etag) seen = await write(name, undefined, { owner, token: 0, until: 0 })
    const now = Date.now()
    if (now < seen.until + 2000 * init.config.maxClockSkew) throw new Error('the lease is held')
    return write(name, seen.etag, { owner, token: Math.max(now, seen.token + 1), until: end() })
  }

  return {
    hold: async (name: string) => {
      const owner = randomUUID()
      let lease = await again(busy, () => take(name, owner))
      const { token } = lease
      const free = async () => {
        // As long as the next token could be too small, the object stays.
        const soon = Date.now() - 2000 * init.config.maxClockSkew <= token
        if (soon) await write(name, lease.etag, { owner, token, until: 0 })
        else await s3.deleteObject({ ...object(name), IfMatch: lease.etag! })
      }
      return {
        token,
        held: async () => Date.now() < lease.until,
        extend: () => again(busy.slice(2), async () => {
          lease = await write(name, lease.etag, { owner, token, until: end() })
        }),
        release: async () => {
          for (let left = 8; ; left--) {
            try { return await free() } catch (e) {
              const seen = await read(name).catch(() => { throw e })
              if (seen.owner !== owner || !seen.until) return
              lease = seen // an extension took effect whose answer was lost
              if (left === 1) throw e
            }
          }
        },
      }
    },
  }
}, ['hold', 'held', 'extend'])
