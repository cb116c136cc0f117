"""Workers that hold a model for as long as they live, one on each device.

A `DevicePool` asks them. They are processes of this machine, or actors of a Ray cluster; both hold
a `ServiceHost`.
"""
