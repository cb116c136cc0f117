"""The yardstick of cassettes, on few calls."""

from bench.cassette import trips


def test_a_trip_goes_there_and_back():
    (trip,) = trips(30, pictures=(2,))
    assert trip.pictures == 2
    assert 0 < trip.exported < 60
    assert 0 < trip.imported < 60
    assert min(trip.export_peak, trip.import_peak) > 50
