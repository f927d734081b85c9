// Package sim runs actors under a scheduler that decides every interleaving, so that one seed gives one run, step for
// step, on every machine.
//
// It knows nothing of DynamoDB and nothing of caches. An [Actor] is ordinary sequential Go code. It parks whenever it
// sends a request to the world ([Proc.Do]) or waits ([Proc.Clock]'s Sleep). Then a [Strategy] picks one of the possible
// steps: a request takes effect, its answer arrives, a timer fires, time moves to the next boundary, a node pauses,
// crashes, comes back or has its clock set, or a [Source] takes a step.
//
//	s := sim.New(sim.Config{Seed: 7, Strategy: sim.RandomWalk})
//	s.Add(sim.Actor{Name: "alice", Run: func(p *sim.Proc) { p.Do(increment) }})
//	s.Add(sim.Actor{Name: "bob", Run: func(p *sim.Proc) { p.Do(increment) }})
//	result := s.Run()
//	fmt.Println(result.End, result.Choices)
//
// # Determinism
//
// The steps possible at any moment have a total order: actors as they were added, each with its steps in the order of
// [Kind]; then requests left in the network by crashed nodes; then sources as they were added; then time. A run is the
// list of positions picked in that order ([Choices]), noted only where there was more than one. Exactly one actor runs
// at a time, as a coroutine, so neither GOMAXPROCS nor the machine's speed can be seen. All randomness comes from named
// streams of one seed ([Stream]).
//
// # Goroutines
//
// With Config.Bubble, an actor's code may have goroutines. They send requests by [Proc.Send] and wait by Proc.Sleep or
// by the clock of a Proc, which then has timers and tickers. After each step all goroutines go on until they wait. The
// requests that they have sent by then become possible at once, in the order of actors, and of [Sorted] within an
// actor. An actor has one lane for each of its parked goroutines: the first has the actor's name and thread, the second
// is alice/b. A run is over when every actor's Run has returned and no goroutine is parked.
//
// # Limits
//
// Without a Bubble, an actor must not start goroutines that call into the simulator, and must not wait on channels: it
// would block the scheduler for ever. The clock of a Proc refuses After, AfterFunc, NewTimer and NewTicker for that
// reason, and the run ends with an error that says so.
//
// The code of an actor between two parks is atomic. A pause between reading the clock and sending a request is explored
// as a request that is under way for a long time.
package sim
