import lightning as L

settings = {"max_epochs": 3, "detect_anomaly": True}  # expect: PLM024
quiet = {"max_epochs": 3, "detect_anomaly": False}
trainer = L.Trainer(**settings)
# trap: off
other = L.Trainer(**quiet)
