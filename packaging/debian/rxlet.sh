#!/bin/sh
exec /usr/lib/rxlet/bin/node /usr/lib/rxlet/bin/rxlet.js "$@"
