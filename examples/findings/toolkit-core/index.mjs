// Stands in for @http-client-toolkit/core, which not every registry has: store-dynamodb imports these names for its
// stores of rates, which toolkit.mjs does not use.
export const DEFAULT_RATE_LIMIT = undefined
export const AdaptiveCapacityCalculator = undefined
