"""Two brains play under PyGomo (PyPI's pygomo-lib): pygomo_game.py PROGRAM SIZE RULE. Prints the moves as x,y in turn."""

import sys

from pygomo import EngineClient

program, size, rule = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def wins(stones, last, exactly):
    """Whether the last of a side's stones makes five in a row."""
    for dx, dy in [(1, 0), (0, 1), (1, 1), (1, -1)]:
        run = 1
        for sign in (1, -1):
            x, y = last[0] + sign * dx, last[1] + sign * dy
            while (x, y) in stones:
                run, x, y = run + 1, x + sign * dx, y + sign * dy
        if run == 5 or (run > 5 and not exactly):
            return True
    return False


players = [EngineClient(program), EngineClient(program)]
for player in players:
    if not player.start(size):
        sys.exit("START is refused")
    player.configure(rule=rule, max_node=1500, timeout_turn=20000)
    if "Kagetsu" not in (player.about() or ""):
        sys.exit("no name")
stones = [set(), set()]
result = players[0].begin(timeout=100)
while True:
    if result is None or result.move is None:
        sys.exit("no move")
    side = (len(stones[0]) + len(stones[1])) % 2
    point = result.move.to_tuple()
    print(result.move.to_numeric(), flush=True)
    stones[side].add(point)
    exactly = rule == 1 or (rule == 4 and side == 0)
    if wins(stones[side], point, exactly) or len(stones[0]) + len(stones[1]) == size * size:
        break
    result = players[1 - side].turn(result.move, timeout=100)
for player in players:
    player.quit()
