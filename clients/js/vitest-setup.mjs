// A fake for each test file: setupFiles: ['isr-sim/vitest/setup'].
import { afterAll } from 'vitest'
import core from './check.cjs'

const fake = await core.startFake()
afterAll(() => fake.stop())
