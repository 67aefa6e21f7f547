"""The tests of a fleet. Each test is a function with a sentence as its title."""
import attacks
import calls
import command_line
import disturbed
import home_assistant
import lies
import macros
import neighbours
import rights

ALL = [test for part in (calls, rights, macros, attacks, lies, disturbed, command_line, home_assistant, neighbours) for test in part.ALL]
