package property

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// wallYear is where package time stands in a bubble: 2000-01-01 00:00:00 UTC, forty years before the nodes' clocks.
var wallYear = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// looked is how many requests of a store are looked at in each campaign: it reads its clocks in all of them alike.
const looked = 30

// wallTexts are the texts in a request that may be a time of package time: a number of ten digits and more, in seconds,
// milliseconds, microseconds or nanoseconds, or a date in ISO 8601.
var wallTexts = regexp.MustCompile(`"(\d{9,19}|(?:2000-01|1999-12)-\d\dT[^"]*)"`)

// checkTimes looks for times of package time in a request: the store has read time.Now and not the node's clock, and will
// be accused of things that do not lead there.
func (g *guard) checkTimes(actor string, input any) {
	g.mu.Lock()
	g.seen++
	enough := g.seen > looked || g.first != nil
	g.mu.Unlock()
	if enough {
		return
	}
	text, err := json.Marshal(input)
	if err != nil {
		return // the SDK will say so
	}
	for _, found := range wallTexts.FindAllSubmatch(text, -1) {
		if value := string(found[1]); ofWallYear(value) {
			_ = g.note(fmt.Errorf("the store under test read time.Now instead of the node's clock: %s sends %T with %s, which is in the year 2000, "+
				"where package time stands still; the nodes' clocks are in 2040", actor, input, value))
			return
		}
	}
}

// ofWallYear says whether a text is a time within some weeks of where package time stands: leases and ttls end then. In
// the small units only whole milliseconds count: package time stands at a whole second, and a random number of that many
// digits is not taken for a time.
func ofWallYear(text string) bool {
	const weeks = 6 * 7 * 24 * time.Hour
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return true // it is an ISO date
	}
	for unit := time.Second; unit >= time.Nanosecond; unit /= 1000 {
		if unit < time.Millisecond && n%int64(time.Millisecond/unit) != 0 {
			continue
		}
		if t := n / int64(time.Second/unit); t >= wallYear.Add(-weeks).Unix() && t <= wallYear.Add(weeks).Unix() {
			return true
		}
	}
	return false
}

// actorOf returns the name of the node that a client belongs to: its access key id.
func actorOf(client *dynamodb.Client) string {
	credentials := client.Options().Credentials
	if credentials == nil {
		return "a node"
	}
	c, err := credentials.Retrieve(context.Background()) //nolint:forbidigo // it asks nobody
	if err != nil {
		return "a node"
	}
	return c.AccessKeyID
}
