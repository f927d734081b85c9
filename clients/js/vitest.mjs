// A test that is a check, for Vitest.
import * as vitest from 'vitest'
import core from './check.cjs'

const { expect, test } = vitest

export function check(name, options, adapter) {
  test(name, { timeout: core.timeout(options) }, async ({ task }) => {
    try {
      await core.checked(expect.getState(), name, options, adapter)
    } catch (failure) {
      const attachments = core.left(failure)
      // From Vitest 4.0.11 on, reporters get the failed run. If they cannot, the story is what matters.
      if (attachments.length > 0) {
        await vitest.recordArtifact?.(task, { type: 'isr-sim:failure', attachments }).catch(() => {})
      }
      throw failure
    }
  })
}
