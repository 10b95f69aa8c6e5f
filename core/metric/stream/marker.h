/*
 * Markers: numbers that command lists put into the data of counting units.
 */
#ifndef ZETA_CORE_METRIC_STREAM_MARKER_H
#define ZETA_CORE_METRIC_STREAM_MARKER_H

#include <stdbool.h>

struct zeta_metric_group;

/**
 * True if zetCommandListAppendMarkerExp takes the group: its unit has markers and, if the group is
 * streamed, its rows show them in the metric StreamMarker.
 */
bool zeta_marker_suits(const struct zeta_metric_group *group);

#endif
