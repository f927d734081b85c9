package control_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// The server of isr-sim serve, in-process.
func Example() {
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	api := control.Handler(db, control.Options{Clock: clock})
	server := httptest.NewServer(control.Guard(control.Mux(db.Handler(), api)))
	defer server.Close()

	response, err := http.Post(server.URL+control.Prefix+"/clock", "application/json",
		strings.NewReader(`{"advance":"90s"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fmt.Print(string(body), err, clock.Now().Equal(fakeclock.Epoch.Add(90e9)))
	// Output:
	// {
	//   "now": "2040-01-01T00:01:30Z",
	//   "epochSeconds": 2208988890,
	//   "mode": "manual"
	// }
	// <nil> true
}
