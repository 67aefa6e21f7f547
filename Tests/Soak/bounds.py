"""The bounds in the table at the end."""

# A call of a polite client that no fault explains, in seconds, on a machine on which at most BUSY programs want each core;
# on a busier one, it may take longer in that proportion.
LONGEST_WAIT, BUSY = 5.0, 3.0
# Stored procedures run with the lowest priority, after all else. They may take this long, which is their own limit.
LONGEST_PROCEDURE = 35.0
# What may remain after use: KiB of a program's own or a part of it, descriptors, threads. Hosts keep idle workers for a while,
# so that there may be some more of those than before; each has a share in the figures.
GROWTH_KIB, GROWTH_PART, GROWTH_DESCRIPTORS, GROWTH_THREADS, GROWTH_PROCESSES = 24 << 10, 0.5, 12, 8, 3
# Lines of a log, besides those of calls: for each fault and each rude client, and in general.
LINES_FAULT, LINES_RUDE, LINES_ALWAYS = 60, 15, 300
# The audit log's own bound for one user in a second: 200, for refused calls 10, and two lines with the number of omitted ones.
AUDIT_LINES = 212
# Whose calls it contains: root's, those of the gateways' two users each, and the gateways' own.
AUDIT_USERS = 5
