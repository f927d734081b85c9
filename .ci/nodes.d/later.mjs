// Moves the host's clocks, as a program sees them, a month ahead: NODE_OPTIONS='--import ./later.mjs'.
const month = 31 * 24 * 3600
const [RealDate, hrtime] = [Date, process.hrtime]
globalThis.Date = class extends RealDate {
  constructor(...given) { given.length === 0 ? super(RealDate.now() + month * 1000) : super(...given) }
  static now() { return RealDate.now() + month * 1000 }
}
process.hrtime = Object.assign((before) => {
  const [s, ns] = hrtime(before)
  return [before ? s : s + month, ns]
}, { bigint: () => hrtime.bigint() + BigInt(month) * 1_000_000_000n })
const now = performance.now.bind(performance)
performance.now = () => now() + month * 1000
