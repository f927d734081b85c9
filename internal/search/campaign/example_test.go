package campaign_test

const pausedWriter = `
name: paused-writer
protocol: blind-publish
cache: {lease: 10s, render: 3s}
actors:
  - {name: alice, script: [get /home], pauses: 1, pause-for: 15s}
  - {name: bob, script: [sleep 5s, get /home, sleep 10s, get /home]}
`
