package dynamic

// NoData is the request of a scorer without a source.
var NoData = []byte(`{"data":null}`)
