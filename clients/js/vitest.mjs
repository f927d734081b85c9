// A test that is a check, for Vitest.
import { expect, test } from 'vitest'
import core from './check.cjs'

export function check(name, options, adapter) {
  test(name, { timeout: core.timeout(options) }, () => core.checked(expect.getState(), name, options, adapter))
}
