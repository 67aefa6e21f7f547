"""What may be, in the table at the end."""

# A call of a polite client that no fault explains, in seconds, on a machine of which no more than BUSY programs want each core;
# on one that is busier it is longer in that proportion.
LONGEST_WAIT, BUSY = 5.0, 3.0
# Stored procedures run with the lowest priority, behind all else on the machine: so long they may take, which is their own limit.
LONGEST_PROCEDURE = 35.0
# What may be left of what came and went: KiB of a program's own or a part of it, descriptors, threads.
GROWTH_KIB, GROWTH_PART, GROWTH_DESCRIPTORS, GROWTH_THREADS = 24 << 10, 0.5, 12, 8
# Lines of a log, besides those of calls: for each fault and each rude client, and at all.
LINES_FAULT, LINES_RUDE, LINES_ALWAYS = 60, 15, 300
# The audit log's own bound for one user in a second: 200, of refused calls 10, and two lines that say how many were left out.
AUDIT_LINES = 212
# Who has calls in it: root, the gateways' two users each, and the gateways themselves.
AUDIT_USERS = 5
