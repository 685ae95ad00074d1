// Package window keeps the recent past of the time series that somebody asks
// for, one [Window] a source of a cluster.
//
// A window is a function of the log. It holds what the last [MaxEvents]
// events of the source's subject say of the series that are asked for, and it
// ends with the last of them, not now. So a reader that has followed the
// subject for days, one that begins now and reads it again, and another
// replica hold the same window, whatever their clocks say, once each has read
// as far.
//
// A source with n series that are asked for takes some 200 bytes and, for
// each event that is kept, 24 bytes and 8 more a series: 4.4 KB with 5 series
// and all 64 events.
package window
