"""The one online loop: a problem, the order of visits, the state, the engines, what is read out, and networks."""
